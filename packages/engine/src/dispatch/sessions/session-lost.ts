import { CarillonError } from "@carillon/core";

/** The server no longer knows the session: whatever its worker still does is somebody else's now. */
export class SessionLost extends CarillonError {
  constructor(id: string) {
    super("session_lost", `the worker session ${id} was declared dead or closed`);
  }
}
