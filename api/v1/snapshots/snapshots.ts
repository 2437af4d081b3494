import type { Hex } from "viem";
import { z } from "zod";
import type { UsedKey } from "#api/http/limit.ts";
import {
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
  uncountedMeta,
} from "#api/http/page.ts";
import { leafEncoding } from "#projections/domain/claim-tree.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { route } from "../context.ts";
import {
  chainRefusals,
  collectionKey,
  optionalChainId,
  requiredBodyChainId,
  text,
  uint256,
  wallet,
} from "../parameters.ts";
import { at, pointRefusals } from "../point.ts";
import { address, chainIdValue, hash, time, uint256Text } from "../wire.ts";
import { makeSnapshot, maxSnapshotHolders } from "./make-snapshot.ts";
import {
  readProof,
  readStoredHolders,
  readStoredSnapshot,
  type StoredSnapshot,
} from "./stored-snapshots.ts";

/** A stored list of holders, and the root of its tree. */
export const HolderSnapshot = z
  .object({
    snapshotId: hash.meta({ description: "Of the terms and the block: the same for ever." }),
    name: z.string(),
    chainId: chainIdValue,
    block: z.int().min(0),
    hash: hash.nullable().meta({ description: "Null, as `time`: nothing indexed happened in it." }),
    time: time.nullable(),
    collections: z.array(
      z.object({
        contract: address,
        tokenIds: z.array(uint256Text).nullable().meta({ description: "Null: all." }),
      }),
    ),
    minUnits: uint256Text,
    excluded: z.array(address),
    holders: z.int().min(1),
    units: uint256Text.meta({ description: "Of all holders together." }),
    root: hash.meta({
      description: "What `StandardMerkleTree.of(holders, leafEncoding).root` of OpenZeppelin is.",
    }),
    leafEncoding: z.tuple([z.literal(leafEncoding[0]), z.literal(leafEncoding[1])]).meta({
      description:
        "A leaf is `keccak256(bytes.concat(keccak256(abi.encode(address, units))))`; pairs are hashed in ascending order.",
      override: { type: "array", items: { type: "string", enum: [...leafEncoding] } },
    }),
    createdAt: time,
  })
  .meta({ id: "HolderSnapshot" });

function presentSnapshot(stored: StoredSnapshot): z.output<typeof HolderSnapshot> {
  const { contracts, block, time, minUnits, excluded, units, createdAt, ...more } = stored;
  return {
    ...more,
    ...{ block: Number(block), time: time?.toISOString() ?? null },
    collections: contracts.map(({ contract, tokenIds }) => ({
      contract,
      tokenIds: tokenIds && [...tokenIds],
    })),
    ...{ minUnits: String(minUnits), excluded: [...excluded], units: String(units) },
    leafEncoding: [...leafEncoding],
    createdAt: createdAt.toISOString(),
  };
}

const maxTokenIds = 500;
const maxExcluded = 1_000;

const ofSnapshots = { tag: "Snapshots", reads: "nothing" } as const;
const { ambiguous_chain: _, ...namedPointRefusals } = pointRefusals;

const snapshotBody = z.strictObject({
  chainId: requiredBodyChainId.meta({ description: "Chain of the collections." }),
  at: at.unwrap().meta({ ...at.meta() }),
  name: text(200).min(1).meta({ description: "Two snapshots may differ in it alone." }),
  collections: z
    .array(
      z.strictObject({
        collection: collectionKey,
        tokenIds: z
          .array(uint256.meta({ override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" } }))
          .min(1)
          .max(maxTokenIds)
          .optional()
          .meta({ description: "Only these ids count, of either standard." }),
      }),
    )
    .min(1)
    .max(20)
    .refine(hasFewIds, `must name at most ${maxTokenIds} token ids in all`)
    .meta({ description: "Units of all of them are added up for each address." }),
  minUnits: uint256
    .refine((units) => units > 0n, "must be at least 1")
    .default(1n)
    .meta({
      description: "Addresses with fewer are left out.",
      override: { type: "string", pattern: "^[1-9][0-9]*$", default: "1" },
    }),
  excluded: z
    .array(wallet)
    .max(maxExcluded)
    .default([])
    .meta({ description: "Wallets that are left out; burn addresses always are." }),
});

function hasFewIds(parts: readonly { tokenIds?: readonly bigint[] | undefined }[]): boolean {
  return parts.reduce((sum, { tokenIds = [] }) => sum + tokenIds.length, 0) <= maxTokenIds;
}

export const createSnapshot = route(
  {
    method: "post",
    path: "/v1/snapshots",
    operationId: "createSnapshot",
    tag: "Snapshots",
    loadClass: "lists",
    scope: "read",
    summary: `Stores who held tokens of collections at the end of a final block, with the Merkle root that contracts verify claims by; at most ${maxSnapshotHolders.toLocaleString("en")} addresses. The same request has the same snapshot for ever`,
    body: snapshotBody,
    bodyLimits: { maxBytes: 131_072, maxValues: 2_000 },
    data: HolderSnapshot,
    successes: { 200: "A snapshot that there was", 201: "A new snapshot" },
    refuses: {
      not_found: 404,
      unsupported_chain: 422,
      bad_structure: 422,
      ...namedPointRefusals,
      block_not_final: { status: 409, retry: "Ask again once the block is final" },
      snapshot_empty: 422,
      snapshot_too_large: 422,
      key_required: 401,
      account_required: 403,
      rate_limited: 429,
    },
  },
  async ({ key, body }, { db, market: { writer } }) => {
    const accountId = accountOf(key);
    if (isRejection(accountId)) return accountId;
    const made = await makeSnapshot({ db, writer }, body, accountId);
    if (isRejection(made)) return made;
    return { data: presentSnapshot(made.snapshot), status: made.isNew ? 201 : 200 };
  },
);

/** What is stored for good has somebody who answers for it. */
function accountOf(key: UsedKey | null) {
  if (key === null)
    return reject(
      "key_required",
      "Snapshots are stored for an account: send one of its keys in the header X-API-Key",
    );
  return (
    key.accountId ??
    reject(
      "account_required",
      "This key belongs to no account: snapshots need a permanent key, which accounts create at /developers",
    )
  );
}

const snapshotParams = z.object({
  snapshotId: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hexadecimal digits")
    .transform((text) => text.toLowerCase() as Hex)
    .meta({
      description: "`snapshotId` of a snapshot.",
      override: { pattern: "^0x[a-fA-F0-9]{64}$" },
    }),
});

const ofOne = {
  ...ofSnapshots,
  params: snapshotParams,
  refuses: { not_found: 404, ...chainRefusals },
  // What is stored never changes.
  maxAgeSeconds: 86_400,
} as const;

const unknownSnapshot = (id: Hex) => reject("not_found", `No snapshot ${id}`);

export const getSnapshot = route(
  {
    ...ofOne,
    method: "get",
    path: "/v1/snapshots/{snapshotId}",
    operationId: "getSnapshot",
    summary: "A stored list of holders: its terms, its block and the root of its tree",
    query: z.object({ chainId: optionalChainId }),
    data: HolderSnapshot,
  },
  async ({ params: { snapshotId } }, { market: { writer } }) => {
    const stored = await readStoredSnapshot(writer, snapshotId);
    return stored === null ? unknownSnapshot(snapshotId) : { data: presentSnapshot(stored) };
  },
);

const { per_page, cursor } = pageFields;

const SnapshotHolderRow = z
  .object({ rank: z.int().min(1), address, units: uint256Text })
  .meta({ id: "SnapshotHolder" });

const rankKey = z.tuple([cursorInteger(9)]).transform(([rank]) => Number(rank));

export const snapshotHolders = route(
  {
    ...ofOne,
    method: "get",
    path: "/v1/snapshots/{snapshotId}/holders",
    operationId: "listSnapshotHolders",
    summary: "The holders of a snapshot, most units first",
    query: z.object({ chainId: optionalChainId, cursor, per_page }),
    data: z.array(SnapshotHolderRow),
    meta: uncountedMeta,
    refuses: { ...ofOne.refuses, ...cursorRefusals },
  },
  async ({ params: { snapshotId }, query }, { market: { writer } }) => {
    const stored = await readStoredSnapshot(writer, snapshotId);
    if (stored === null) return unknownSnapshot(snapshotId);
    const request = cursorPageOf(query, { list: "snapshot holders", snapshotId }, rankKey);
    if (isRejection(request)) return request;
    const rows = await readStoredHolders(writer, snapshotId, request.read);
    const { shown, meta } = cutPage(request, rows, ({ rank }) => [rank]);
    return {
      data: shown.map(({ rank, owner, units }) => ({ rank, address: owner, units: `${units}` })),
      meta: { chainId: stored.chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);

export const snapshotCsv = route(
  {
    ...ofOne,
    method: "get",
    path: "/v1/snapshots/{snapshotId}/holders.csv",
    operationId: "getSnapshotCsv",
    loadClass: "lists",
    summary: "All holders of a snapshot as CSV with the columns `address` and `units`",
    query: z.object({ chainId: optionalChainId }),
    data: z.null(),
    mediaTypes: ["text/csv"],
  },
  async ({ params: { snapshotId } }, { market: { writer } }) => {
    const all = { limit: maxSnapshotHolders, after: null };
    const rows = await readStoredHolders(writer, snapshotId, all);
    if (rows.length === 0) return unknownSnapshot(snapshotId);
    const lines = ["address,units", ...rows.map(({ owner, units }) => `${owner},${units}`), ""];
    return { data: null, media: { type: "text/csv", bytes: Buffer.from(lines.join("\n")) } };
  },
);

const SnapshotClaim = z
  .object({
    snapshotId: hash,
    root: hash,
    address,
    units: uint256Text,
    proof: z.array(hash).meta({
      description:
        "For `MerkleProof.verify(proof, root, leaf)` of OpenZeppelin; empty where there is one holder.",
    }),
  })
  .meta({ id: "SnapshotClaim" });

export const snapshotProof = route(
  {
    ...ofOne,
    method: "get",
    path: "/v1/snapshots/{snapshotId}/proof",
    operationId: "getSnapshotProof",
    summary: "What a wallet holds in a snapshot, with the proof that contracts verify",
    query: z.object({ chainId: optionalChainId, wallet }),
    data: SnapshotClaim,
  },
  async ({ params: { snapshotId }, query }, { market: { writer } }) => {
    const stored = await readStoredSnapshot(writer, snapshotId);
    if (stored === null) return unknownSnapshot(snapshotId);
    const held = await readProof(writer, snapshotId, query.wallet);
    if (held === null)
      return reject("not_found", `${query.wallet} is none of the snapshot's holders`);
    const { owner, units, proof } = held;
    const claim = { address: owner, units: String(units), proof: [...proof] };
    return { data: { snapshotId, root: stored.root, ...claim } };
  },
);
