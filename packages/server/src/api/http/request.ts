import { isUtf8 } from "node:buffer";
import { CarillonError } from "@carillon/core";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A change is a merge patch (RFC 7396), which has a type of its own. */
const types = ["application/json", "application/merge-patch+json"];

/**
 * JSON is the only body the API takes. Bytes that are not UTF-8 are refused rather than replaced, and so are members named
 * __proto__, which have a meaning for JavaScript that their sender cannot have wanted.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>(types, { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) {
      const isFine = request.routeOptions.config.mayBeEmpty === true;
      return isFine ? done(null, undefined) : done(refusal("The body is empty; send a JSON object."));
    }
    if (!isUtf8(bytes)) return done(refusal("The body is not valid UTF-8."));
    parseText(request, bytes.toString("utf8"), parse, done);
  });
}

type Parser = ReturnType<FastifyInstance["getDefaultJsonParser"]>;
type Done = (error: Error | null, body?: unknown) => void;

function parseText(request: FastifyRequest, text: string, parse: Parser, done: Done): void {
  // A byte order mark is allowed at the start of what is read (RFC 8259, section 8.1), though not in what is sent.
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  void parse(request, json, (error, body) => {
    if (error === null) done(null, body);
    else done(refusal(`The body is not JSON that can be taken: ${reason(json)}`));
  });
}

/** JSON.parse says where it stopped; the framework's own error does not. */
function reason(json: string): string {
  try {
    JSON.parse(json);
    return "a member is named __proto__, or is a constructor with a prototype.";
  } catch (error) {
    return error instanceof Error ? `${error.message}.` : "it does not parse.";
  }
}

function refusal(detail: string): CarillonError {
  return new CarillonError("json_invalid", detail);
}
