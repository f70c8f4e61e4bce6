/** The result of the work, or that of `onTimeout` (which may throw) when the work takes longer. The work itself goes on. */
export function withTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Result,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
      }
    }, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
