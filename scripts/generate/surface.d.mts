import type { Json } from "@carillon/contract";

export function apiSurface(document: { readonly [name: string]: Json }): string[];
export function breachesOf(promised: readonly string[], present: readonly string[]): string[];
