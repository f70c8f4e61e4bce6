/** What became of one try to send a message. disabled: its endpoint wants none, or is gone. */
export type DeliveryOutcome = "delivered" | "failed" | "gone" | "disabled";
