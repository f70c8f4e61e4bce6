/** Any JSON value of the document. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * Turns schemas into plain JSON and moves each one with a title into `components/schemas`, once, leaving a reference in its place. Two
 * different schemas with the same title are an error in the contract.
 */
export class SchemaComponents {
  readonly #schemas = new Map<string, Json>();

  /** The schema, with references in place of schemas that have a title. */
  reference(schema: object): Json {
    return this.#hoisted(plain(schema));
  }

  toJson(): Json {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #hoisted(node: Json): Json {
    if (isList(node)) return node.map((item) => this.#hoisted(item));
    if (typeof node !== "object" || node === null) return node;
    const { title, description, ...rest } = node;
    // Under `properties` a title is a field of that name, which is an object.
    if (typeof title !== "string") return mapMembers(node, (member) => this.#hoisted(member));
    this.#keep(
      title,
      mapMembers(rest, (member) => this.#hoisted(member)),
      description,
    );
    const reference = { $ref: `#/components/schemas/${title}` };
    return description === undefined ? reference : { ...reference, description };
  }

  #keep(title: string, body: Json, description: Json | undefined): void {
    const known = this.#schemas.get(title);
    const bare = JSON.stringify(body);
    if (known === undefined) {
      this.#schemas.set(title, description === undefined || !isMap(body) ? body : { description, ...body });
    } else if (JSON.stringify(withoutDescription(known)) !== bare) {
      throw new Error(`Two different schemas have the title ${title}.`);
    }
  }
}

function plain(schema: object): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node);
}

function isMap(node: Json): node is { readonly [name: string]: Json } {
  return typeof node === "object" && node !== null && !isList(node);
}

function mapMembers(node: { readonly [name: string]: Json }, change: (member: Json) => Json): Json {
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, change(member)]));
}

function withoutDescription(node: Json): Json {
  if (!isMap(node)) return node;
  const { description: _, ...rest } = node;
  return rest;
}
