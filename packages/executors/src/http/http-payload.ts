import { CarillonError, type DurationMs } from "@carillon/core";
import { Condition, type JsonTemplate, type Template } from "@carillon/condition";
import { PayloadReader, secretName } from "@carillon/worker";
import { TemplateReader } from "../templates.js";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const maxUrlLength = 8_192;
const maxHeaderBytes = 16_384;
const maxRedirects = 5;
const dayMs: DurationMs = 86_400_000;
const maxCallbackMs: DurationMs = 30 * dayMs;
const defaultCallbackMs: DurationMs = 3_600_000;

const defaultAnswerBytes = 65_536;
const maxAnswerBytes = 1_048_576;

/** Headers that the executor or the connection sets. */
const ownHeader =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|idempotency-key|carillon-.*)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

export type HttpAuth =
  | { readonly type: "bearer"; readonly secret: string }
  | { readonly type: "basic"; readonly username: string; readonly secret: string }
  | { readonly type: "header"; readonly name: string; readonly secret: string };

export type HttpPayload = ReturnType<typeof readHttpPayload>;

/** Throws a PayloadError that names every fault. */
export function readHttpPayload(payload: unknown) {
  const reader = new PayloadReader("http", payload);
  const templates = new TemplateReader(reader, payload);
  const timeouts = reader.object("timeouts");
  const method = methodOf(reader);
  const read = {
    url: urlOf(reader, templates),
    method,
    headers: headersOf(reader, templates),
    // Sent unchanged.
    body: reader.value("body"),
    bodyTemplate: bodyTemplateOf(reader, templates),
    auth: authOf(reader.object("auth")),
    success: successOf(reader),
    connectMs: timeouts?.duration("connect", dayMs),
    firstByteMs: timeouts?.duration("first_byte", dayMs),
    totalMs: timeouts?.duration("total", dayMs),
    answerBytes: reader.whole("max_response_bytes", 0, maxAnswerBytes) ?? defaultAnswerBytes,
    redirects: reader.whole("redirects", 0, maxRedirects) ?? maxRedirects,
    // How long the run waits for a callback after a 202; null: it asks for none.
    callbackMs: callbackOf(reader),
  };
  // Values for templates, in any form.
  reader.value("data");
  if (reader.has("body") && reader.has("body_template")) reader.fault("body_template", "cannot be combined with body");
  if (["GET", "HEAD"].includes(method) && (reader.has("body") || reader.has("body_template"))) {
    reader.fault("method", `${method} sends no body: use POST, PUT or PATCH`);
  }
  reader.end();
  return read;
}

function urlOf(reader: PayloadReader, templates: TemplateReader): Template {
  const source = reader.requiredText("url", { max: maxUrlLength });
  const template = templates.text("url", source);
  // The author of the job names the host: a value of the payload must not choose it.
  if (
    source !== "" &&
    (!/^https?:\/\/[^/?#{}]+(?:[/?#]|$)/i.test(source) || !URL.canParse(source.replace(/[{}]/g, "x")))
  ) {
    reader.fault("url", "must be an address such as https://api.example.com/path, its host without a template");
  }
  return template;
}

function methodOf(reader: PayloadReader): string {
  const given = reader.text("method");
  const method = given?.toUpperCase() ?? "GET";
  if (!methods.some((one) => one === method)) reader.fault("method", `must be one of ${methods.join(", ")}`);
  return method;
}

function headersOf(reader: PayloadReader, templates: TemplateReader): ReadonlyMap<string, Template> {
  const headers = new Map<string, Template>();
  for (const [name, value] of Object.entries(reader.texts("headers", maxHeaderBytes))) {
    if (!headerName.test(name))
      reader.fault("headers", `has ${JSON.stringify(name)}, which is not the name of a header`);
    else if (ownHeader.test(name)) reader.fault("headers", `has ${name}, which the executor sets itself`);
    else headers.set(name.toLowerCase(), templates.text("headers", value));
  }
  return headers;
}

function bodyTemplateOf(reader: PayloadReader, templates: TemplateReader): Template | JsonTemplate | null {
  const source = reader.value("body_template");
  if (source === undefined) return null;
  return typeof source === "string" ? templates.text("body_template", source) : templates.json("body_template", source);
}

function authOf(reader: PayloadReader | undefined): HttpAuth | null {
  if (reader === undefined) return null;
  const type = reader.oneOf("type", ["bearer", "basic", "header"]) ?? "bearer";
  const secret = reader.requiredText("secret", { pattern: secretName, words: "the name of a secret" });
  if (type === "bearer") return { type, secret };
  if (type === "basic")
    return {
      type,
      secret,
      username: reader.requiredText("username", { max: 200, pattern: /^[^:]*$/, words: "a name without a colon" }),
    };
  return { type, secret, name: reader.requiredText("name", { pattern: headerName, words: "the name of a header" }) };
}

function successOf(reader: PayloadReader): Condition | null {
  const source = reader.text("success");
  if (source === undefined) return null;
  try {
    return new Condition(source, { status: "int", headers: "map", body: "dyn", upstream: "dyn" });
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    reader.fault("success", error.message);
    return null;
  }
}

function callbackOf(reader: PayloadReader): DurationMs | null {
  const value = reader.value("callback");
  if (value === undefined || value === false) return null;
  if (value === true) return defaultCallbackMs;
  return reader.object("callback")?.duration("timeout", maxCallbackMs) ?? defaultCallbackMs;
}
