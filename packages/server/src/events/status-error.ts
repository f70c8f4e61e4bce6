const type = /^HttpStatus([1-9]\d\d)$/;

/** Says by its type which status came, so that the log of deliveries can; where our code threw it is nobody's business. */
export function asStatusError<Thrown extends Error>(error: Thrown, status: number): Thrown {
  Object.defineProperty(error, "name", { value: `HttpStatus${status}` });
  Object.defineProperty(error, "stack", { value: undefined });
  return error;
}

/** The status that an error of this type is about; null: none came. */
export function statusOfError(name: string | undefined): number | null {
  const [, status] = type.exec(name ?? "") ?? [];
  return status === undefined ? null : Number(status);
}
