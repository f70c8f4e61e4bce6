/** Most schedules fire on the hour: said of each of them, it is not heard. Data has it all the same. */
export function worthSaying<Warning extends { readonly code: string }>(warnings: readonly Warning[]): Warning[] {
  return warnings.filter(({ code }) => code !== "on_the_hour");
}
