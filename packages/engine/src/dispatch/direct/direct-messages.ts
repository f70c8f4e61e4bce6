import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Instant, RunPolicy } from "@carillon/core";
import { type ClaimedRun, jsonOrNull, jsonParam, type NewRun, type SlotOffer } from "@carillon/store";
import type { DirectNotice } from "./direct-arrivals.js";

/** A node ignores messages of other versions: its scan finds the runs. */
const version = 2;
/** NOTIFY takes less than 8,000 bytes; encrypted, three become four, and the statement writes a time and a fence before them. */
const maxBytes = 5_900;

type RunFields = readonly [id: string, rank: number, payload: string];
type NoticeFields = readonly [
  version: number,
  from: string,
  sessionId: string,
  lane: number,
  namespaceId: number,
  token: string,
  number: number,
  /** The runs themselves, if there is room for them; else their ids. */
  content:
    | { readonly priority: number; readonly policy: string | null; readonly runs: readonly RunFields[] }
    | readonly string[],
];

export const writeOffer = (offer: SlotOffer): string => JSON.stringify([version, offer]);

/** null: not of this version. */
export function readOffer(text: string): SlotOffer | null {
  const [of, offer] = JSON.parse(text) as [number, SlotOffer];
  return of === version ? offer : null;
}

/** The notice for the gateway of an offer, of runs that are stored by it; null: they are too many. */
export function writeNotice(from: string, offer: SlotOffer, number: number, runs: readonly NewRun[]): string | null {
  const { sessionId, lane, namespaceId, token } = offer;
  const head = [version, from, sessionId, lane, namespaceId, token, number] as const;
  const whole: NoticeFields = [...head, contentOf(runs)];
  const text = JSON.stringify(whole);
  if (fits(text)) return text;
  const short: NoticeFields = [...head, runs.map((run) => run.id)];
  const shortText = JSON.stringify(short);
  return fits(shortText) ? shortText : null;
}

const fits = (text: string): boolean => text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes;

function contentOf(runs: readonly NewRun[]): NoticeFields[7] {
  const [first] = runs;
  const { priority = 0, policy } = first ?? {};
  return {
    priority,
    policy: jsonOrNull(policy),
    runs: runs.map((run) => [run.id, run.rank, jsonParam(run.payload)]),
  };
}

/** When runs were stored for a worker, and the fence of its claims: as the statement that stores them answers. */
export interface DirectClaim {
  readonly at: Instant;
  readonly fence: number;
}

/** null: not of this version. */
export function readNotice(text: string, { at, fence }: DirectClaim): DirectNotice | null {
  const [of, from, sessionId, lane, namespaceId, token, number, content] = JSON.parse(text) as NoticeFields;
  if (of !== version) return null;
  const place = { from, sessionId, lane, namespaceId, use: { token, number, at } };
  if (!("runs" in content)) return { ...place, ids: content, runs: null };
  const policy = content.policy === null ? {} : (JSON.parse(content.policy) as RunPolicy);
  const same = { lane, namespaceId, policy, priority: content.priority, session: sessionId, at, fence };
  const runs = content.runs.map(([id, rank, payload]) => toDirectRun({ ...same, id, rank, payload }));
  return { ...place, ids: runs.map((run) => run.id), runs };
}

interface StoredRun extends Pick<
  ClaimedRun,
  "id" | "namespaceId" | "lane" | "policy" | "rank" | "priority" | "session" | "fence"
> {
  readonly payload: string;
  readonly at: Instant;
}

/** A run as the statement that stores it for a worker leaves it. */
export function toDirectRun(stored: StoredRun): ClaimedRun {
  const { id, namespaceId, lane, session, payload, policy, fence, rank, priority, at } = stored;
  return {
    id,
    jobId: id,
    namespaceId,
    lane,
    session,
    payload,
    policy,
    spent: 0,
    losses: 0,
    fence,
    rank,
    priority,
    runAt: at,
    nominal: at,
    trigger: "once",
    deadline: null,
    isStopped: false,
    isStarted: false,
  };
}

const method = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const maxTexts = 0xffff_ffff;

/** Encrypts and authenticates what nodes send to each other. A text is for one channel and for no other. */
export class NoticeCipher {
  readonly #key: KeyObject;
  /** Never the same twice: a part of its own for each process, and a number. Random ones would cost half as much again. */
  #nonce = randomBytes(nonceBytes);
  #texts = 0;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  encrypt(channel: string, text: string): string {
    const nonce = this.#nextNonce();
    const cipher = createCipheriv(method, this.#key, nonce).setAAD(Buffer.from(channel));
    return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
  }

  /** null: no holder of the secret wrote it for this channel. */
  decrypt(channel: string, encrypted: string): string | null {
    const bytes = Buffer.from(encrypted, "base64");
    if (bytes.length < nonceBytes + tagBytes) return null;
    const decipher = createDecipheriv(method, this.#key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(channel)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
  }

  #nextNonce(): Buffer {
    if (this.#texts === maxTexts) {
      this.#nonce = randomBytes(nonceBytes);
      this.#texts = 0;
    }
    this.#nonce.writeUInt32BE(++this.#texts, nonceBytes - 4);
    return this.#nonce;
  }
}
