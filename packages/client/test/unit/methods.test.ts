import type {
  Backfill,
  BackfillCount,
  BulkOperation,
  Delivery,
  Job,
  JobBatchCreated,
  JobCancel,
  JobCreate,
  JobDeleteQuery,
  JobListQuery,
  JobPreview,
  JobPreviewRequest,
  QueuePurged,
  Readiness,
  Run,
  RunCreated,
  UpcomingQuery,
} from "@carillon/contract";
import { operations } from "@carillon/contract";
import { expect, expectTypeOf, it } from "vitest";
import type { Client } from "../../src/client.js";
import { routes } from "../../src/generated/routes.js";
import type { CallOptions } from "../../src/transport.js";

type Keyed = CallOptions & { readonly idempotencyKey?: string };

declare const client: Client;

it("gives a method the names of its path, the body, the query and options, in this order", () => {
  expectTypeOf<Client["jobs"]["get"]>().parameters.toEqualTypeOf<[id: string, options?: CallOptions]>();
  expectTypeOf<Client["jobs"]["list"]>().parameters.toEqualTypeOf<[query?: JobListQuery, options?: CallOptions]>();
  expectTypeOf<Client["jobs"]["create"]>().parameter(0).toEqualTypeOf<JobCreate>();
  expectTypeOf<Client["jobs"]["preview"]>().parameters.toEqualTypeOf<
    [body: JobPreviewRequest, query?: UpcomingQuery, options?: CallOptions]
  >();
  expectTypeOf<Client["jobs"]["delete"]>().parameter(1).toEqualTypeOf<JobDeleteQuery | undefined>();
  expectTypeOf<Client["jobs"]["cancel"]>().parameter(1).toEqualTypeOf<JobCancel | undefined>();
  expectTypeOf<Client["webhooks"]["delivery"]>().parameters.toEqualTypeOf<
    [id: string, inner: string, options?: CallOptions]
  >();
  expectTypeOf<Client["version"]>().parameters.toEqualTypeOf<[options?: CallOptions]>();
});

it("takes one member of a body in its place where the operation says so", () => {
  expectTypeOf<Client["jobs"]["createMany"]>().parameter(0).toEqualTypeOf<readonly JobCreate[]>();
  expectTypeOf<Client["jobs"]["rollback"]>().parameter(1).toEqualTypeOf<number>();
});

it("offers only the options that the operation has", () => {
  expectTypeOf<Client["runs"]["cancel"]>().parameter(1).toEqualTypeOf<Keyed | undefined>();
  expectTypeOf<Client["jobs"]["pause"]>()
    .parameter(2)
    .toEqualTypeOf<(Keyed & { readonly ifVersion?: number }) | undefined>();
  expectTypeOf<Client["runs"]["create"]>()
    .parameter(1)
    .toEqualTypeOf<(Keyed & { readonly wait?: string }) | undefined>();
  expectTypeOf<Client["runs"]["get"]>()
    .parameter(1)
    .toEqualTypeOf<(CallOptions & { readonly wait?: string }) | undefined>();
});

it("returns what the operation answers", () => {
  expectTypeOf<Client["jobs"]["put"]>().returns.resolves.toEqualTypeOf<Job>();
  expectTypeOf<Client["jobs"]["createMany"]>().returns.resolves.toEqualTypeOf<JobBatchCreated>();
  expectTypeOf<Client["jobs"]["preview"]>().returns.resolves.toEqualTypeOf<JobPreview>();
  expectTypeOf<Client["jobs"]["runNow"]>().returns.resolves.toEqualTypeOf<Run>();
  expectTypeOf<Client["jobs"]["delete"]>().returns.resolves.toEqualTypeOf<void>();
  expectTypeOf<Client["jobs"]["backfill"]>().returns.resolves.toEqualTypeOf<Backfill>();
  expectTypeOf<Client["jobs"]["countBackfill"]>().returns.resolves.toEqualTypeOf<BackfillCount>();
  expectTypeOf<Client["runs"]["create"]>().returns.resolves.toEqualTypeOf<RunCreated>();
  expectTypeOf<Client["queues"]["purge"]>().returns.resolves.toEqualTypeOf<QueuePurged | BulkOperation>();
  expectTypeOf<Client["webhooks"]["delivery"]>().returns.resolves.toEqualTypeOf<Delivery>();
  expectTypeOf<Client["ready"]>().returns.resolves.toEqualTypeOf<Readiness>();
});

it("refuses unknown fields and wrong types at compile time", () => {
  const misuse = () => [
    // @ts-expect-error a task is a string
    client.jobs.create({ task: 5 }),
    // @ts-expect-error the field is task
    client.jobs.create({ taks: "echo" }),
    // @ts-expect-error a job is named by its id
    client.jobs.pause(),
    // @ts-expect-error a call that reads takes no version
    client.jobs.get("@k", { ifVersion: 3 }),
    // @ts-expect-error there is no such method
    client.jobs.frobnicate(),
  ];
  expect(misuse).toBeTypeOf("function");
});

it("has a route for every method that an operation names (node scripts/generate/client.mjs writes them)", () => {
  const ids = Object.values(routes).flatMap((one) => ("id" in one ? [one.id] : Object.values(one).map(({ id }) => id)));
  const named = Object.entries(operations).filter(([, one]) => "client" in one);
  expect(new Set<string>(ids)).toEqual(new Set(named.map(([id]) => id)));
});
