import type * as core from "@carillon/core";

export function renderErrors(catalogue: Pick<typeof core, "errorAreas" | "errorCatalogue">): string;
