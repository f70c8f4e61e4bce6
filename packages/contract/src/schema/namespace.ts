import { namespaceNamePattern } from "@carillon/core";
import { Type, type Static } from "typebox";
import { namespaceNameLength } from "./limits.js";
import { removable } from "./merge-patch.js";
import { NextPageToken } from "./paging.js";
import { QueueConcurrency, QueueRateLimit } from "./run-limits.js";
import { Timestamp } from "./scalars.js";
import { nullable } from "./string-enum.js";

const Weight = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description:
    "Its share of the workers that serve several namespaces, in proportion to the weights of the others that have work",
  examples: [3],
});

const NamespaceName = Type.String({
  minLength: 1,
  maxLength: namespaceNameLength,
  pattern: namespaceNamePattern,
  examples: ["billing"],
});

export const NamespaceCreate = Type.Object(
  { name: NamespaceName, weight: Type.Optional(Type.Integer({ ...Weight, default: 1 })) },
  { title: "NamespaceCreate", additionalProperties: false, examples: [{ name: "billing", weight: 3 }] },
);

export const NamespacePatch = Type.Object(
  {
    weight: Type.Optional(Weight),
    concurrency: Type.Optional(removable<Static<typeof QueueConcurrency>>(QueueConcurrency)),
    rate_limit: Type.Optional(removable<Static<typeof QueueRateLimit>>(QueueRateLimit)),
  },
  { title: "NamespacePatch", additionalProperties: false, examples: [{ weight: 3 }] },
);

export const Namespace = Type.Object(
  {
    name: Type.String(),
    weight: Weight,
    concurrency: nullable(QueueConcurrency),
    rate_limit: nullable(QueueRateLimit),
    version: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Namespace", additionalProperties: false },
);

export const NamespaceList = Type.Object(
  { namespaces: Type.Array(Namespace), next_page_token: NextPageToken },
  { title: "NamespaceList", additionalProperties: false },
);

export type NamespaceCreate = Static<typeof NamespaceCreate>;
export type NamespacePatch = Static<typeof NamespacePatch>;
export type Namespace = Static<typeof Namespace>;
export type NamespaceList = Static<typeof NamespaceList>;
