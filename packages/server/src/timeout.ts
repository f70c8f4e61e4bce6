/** What the work gives; rejects when it takes longer than the limit. The work itself goes on. */
export function inTime<Result>(limitMs: number, work: Promise<Result>, refusal: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(refusal()), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What the work gives, or the fallback when it takes longer than the limit. The work itself goes on. */
export function within<Result>(limitMs: number, work: Promise<Result>, fallback: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(fallback()), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
