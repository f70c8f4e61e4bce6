import type { Json } from "./schema-components.js";

/** An answer as it stands in the document. */
export interface ResponseJson {
  readonly [name: string]: Json;
  readonly description: string;
  readonly headers: { readonly [name: string]: Json };
  readonly content: { readonly [type: string]: Json };
}
