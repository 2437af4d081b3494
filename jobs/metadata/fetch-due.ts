import { isDeepStrictEqual } from "node:util";
import {
  type ContractMetadata,
  parseContractMetadata,
} from "#projections/domain/metadata/contract-metadata.ts";
import {
  isJsonSchema,
  type JsonObject,
  type OnLimit,
  parseJsonDocument,
  withTokenId,
} from "#projections/domain/metadata/document.ts";
import { type IdForm, tokenUrisOf } from "#projections/domain/metadata/location.ts";
import { parseUri } from "#projections/domain/metadata/media.ts";
import {
  imageMetadata,
  parseTokenMetadata,
  type TokenMetadata,
} from "#projections/domain/metadata/token-metadata.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import {
  contractMetadataFetched,
  type Failure,
  metadataConfirmed,
  tokenMetadataFetched,
} from "#projections/metadata/facts.ts";
import type { MetadataTarget } from "#projections/metadata/read-due-metadata.ts";
import { readTradedContracts } from "#projections/sales/read-unresolved-events.ts";
import type { ChainClient } from "../chain/client.ts";
import type { ReadBasis } from "../chain/contract-calls.ts";
import {
  type ContractCost,
  fetchWithinBudget,
  type PassResult,
  type StorageMeter,
  tradedBytes,
  type UnpaidBudget,
  unpaidBytes,
  unpaidShare,
  untradedBytes,
  workByContract,
} from "./contract-budget.ts";
import type { DocumentFetcher, FetchCost } from "./document-fetcher.ts";
import { type FetchedDocument, isPicture } from "./fetch-document.ts";
import { fetchUris, type UriResult } from "./fetch-uris.ts";

type FetchContext = {
  db: Database;
  client: ChainClient;
  fetcher: DocumentFetcher;
  meter: StorageMeter;
  unpaid: UnpaidBudget;
  now: () => Date;
  signal: AbortSignal;
};

export type FetchOutcome = {
  /** Facts appended, and the log's head after the last of them. */
  recorded: number;
  head: bigint;
  /** How the pass of each contract ended. */
  results: ReadonlyMap<number, PassResult>;
  /** What facts were appended of. */
  answered: readonly MetadataTarget[];
};

/** Facts per append: fetched documents are not lost when the process ends early. */
const factsPerAppend = 32;

/**
 * Fetches the metadata of distinct subjects and records the document or the failure. A host that is cooling down leaves
 * no fact. Throws `RpcFailure`.
 */
export async function fetchDue(
  work: FetchContext,
  subjects: readonly MetadataTarget[],
): Promise<FetchOutcome> {
  if (subjects.length === 0) return { recorded: 0, head: 0n, results: new Map(), answered: [] };
  const works = workByContract(...(await withoutBehind(subjects, work.client)));
  const contractIds = works.map(({ contractId }) => contractId);
  const traded = await readTradedContracts(work.db, work.client.chainId, contractIds);
  const results = new Map<number, PassResult>();
  const answered: MetadataTarget[] = [];
  const outcome = { recorded: 0, head: 0n, results, answered };
  let found: Observation[] = [];
  let appending = Promise.resolve();

  function flush(): void {
    const facts = found;
    found = [];
    appending = appending.then(async () => {
      if (facts.length === 0) return;
      outcome.head = (await appendObservations(work.db, facts)).head;
      outcome.recorded += facts.length;
    });
    // Awaited below, where it also throws.
    appending.catch(() => undefined);
  }

  await Promise.all(
    works.map(async (contract) => {
      const allowedBytes = traded.has(contract.contractId) ? tradedBytes : untradedBytes;
      const result = await fetchWithinBudget(contract, async (subject, uri, cost) => {
        const fact = await fetchFact(work, subject, uri, cost);
        // An aborted fetch says nothing about the document.
        if (fact === undefined || work.signal.aborted) return false;
        // Another document used the bytes up meanwhile: this one is fetched again in its turn.
        if (cost.over !== null) return false;
        chargeDisk(work, subject, fact, cost, allowedBytes);
        answered.push(subject);
        if (found.push(fact) >= factsPerAppend) flush();
        return true;
      });
      results.set(contract.contractId, result);
    }),
  );
  flush();
  await appending;
  return outcome;
}

/** A node that does not have the block of a change yet would answer with what was before: that is asked for later. */
async function withoutBehind(
  subjects: readonly MetadataTarget[],
  client: ChainClient,
): Promise<[MetadataTarget[], UriResult[]]> {
  const uris = await fetchUris(client, subjects);
  const isBehind = ({ changedAt }: MetadataTarget, index: number) =>
    (uris[index]?.basis.number ?? changedAt ?? 0n) < (changedAt ?? 0n);
  const places = [...subjects.keys()].filter((index) => {
    const subject = subjects[index];
    return subject !== undefined && !isBehind(subject, index);
  });
  return [places.flatMap((index) => subjects[index] ?? []), places.map((index) => uris[index])];
}

function chargeDisk(
  { meter, unpaid }: FetchContext,
  subject: MetadataTarget,
  fact: Observation,
  cost: ContractCost,
  allowedBytes: number,
): void {
  cost.bytes += meter.charge(subject, fact);
  const dailyBytes = allowedBytes * unpaidShare;
  const isOver = unpaid.charge(subject.contractId, unpaidBytes(subject, fact), dailyBytes);
  if (cost.bytes > allowedBytes) cost.over = "bulky";
  else if (isOver) cost.over = "unpaid";
}

async function fetchFact(
  work: FetchContext,
  subject: MetadataTarget,
  answer: UriResult,
  cost: FetchCost,
): Promise<Observation | undefined> {
  const { tokenId } = subject;
  if (answer === undefined) return undefined;
  const target = { ...subject, basis: answer.basis };
  return tokenId === null
    ? await fetchContract(work, target, answer, cost)
    : await fetchToken(work, { ...target, tokenId }, answer, cost);
}

/** With the block that its URI was read at. */
type ReadTarget = MetadataTarget & { basis: ReadBasis };

type UriAnswer = Exclude<UriResult, undefined>;

async function fetchContract(
  work: FetchContext,
  subject: ReadTarget,
  answer: UriAnswer,
  cost: FetchCost,
): Promise<Observation | undefined> {
  if ("fault" in answer) return contractFact(work, subject, null, answer.fault);
  const { uri } = answer;
  const document = await work.fetcher.fetchDocument(uri, work.signal, cost);
  if (document === undefined) return undefined;
  const result = "fault" in document ? document.fault : parseContractDocument(document);
  return contractFact(work, subject, uri, result);
}

type TokenTarget = ReadTarget & { tokenId: bigint };

/** Tries each URI that the contract's may stand for. The first failure is the one that is recorded. */
async function fetchToken(
  work: FetchContext,
  subject: TokenTarget,
  answer: UriAnswer,
  cost: FetchCost,
): Promise<Observation | undefined> {
  if ("fault" in answer) return tokenFact(work, subject, null, answer.fault);
  const { tokenId, standard } = subject;
  let failure: Observation | undefined;
  for (const { uri, form } of tokenUrisOf(answer.uri, tokenId, standard)) {
    const document = await work.fetcher.fetchDocument(uri, work.signal, cost);
    if (document === undefined) return undefined;
    const result =
      "fault" in document
        ? document.fault
        : parseTokenDocument({ tokenId, standard, uri, form }, document);
    if (typeof result !== "string") return tokenFact(work, subject, uri, result);
    failure ??= tokenFact(work, subject, uri, result);
  }
  return failure;
}

function tokenFact(
  work: FetchContext,
  subject: TokenTarget,
  uri: string | null,
  result: TokenMetadata | string,
): Observation {
  const about = { ...subjectOf(work, subject), tokenId: subject.tokenId };
  const { kept, stated } = withUri("tokenUri", uri, result);
  const fact = tokenMetadataFetched(about, kept, resultOrFailure(subject, stated));
  return isKnown(subject, fact) ? metadataConfirmed(about) : fact;
}

function contractFact(
  work: FetchContext,
  subject: ReadTarget,
  uri: string | null,
  result: ContractMetadata | string,
): Observation {
  const about = subjectOf(work, subject);
  const { kept, stated } = withUri("contractUri", uri, result);
  const fact = contractMetadataFetched(about, kept, resultOrFailure(subject, stated));
  return isKnown(subject, fact) ? metadataConfirmed(about) : fact;
}

const subjectOf = ({ client, now }: FetchContext, read: ReadTarget) => ({
  chainId: client.chainId,
  contract: read.contract,
  recordedAt: now(),
  basis: read.basis,
  after: read.lastPosition,
  shown: read.shownPosition,
});

/** The URI as it is kept, and what was found with what of the URI was left out. */
function withUri<Found extends { issue?: string }>(
  name: string,
  uri: string | null,
  result: Found | string,
): { kept: string | null; stated: Found | string } {
  const notes: string[] = [];
  const onLimit: OnLimit = (note) => notes.push(`${name} left out: ${note}`);
  const kept = uri === null ? null : parseUri(uri, onLimit);
  if (notes.length === 0) return { kept, stated: result };
  if (typeof result === "string") return { kept, stated: [result, ...notes].join("; ") };
  return {
    kept,
    stated: { ...result, issue: [result.issue, ...notes].filter(Boolean).join("; ") },
  };
}

function resultOrFailure<Result extends object>(
  { attempt }: MetadataTarget,
  result: Result | string,
): Result | Failure {
  return typeof result === "string" ? { error: result, attempt: attempt + 1 } : result;
}

function isKnown({ known }: MetadataTarget, { payload }: Observation): boolean {
  return known !== null && isDeepStrictEqual(known, JSON.parse(JSON.stringify(payload)));
}

/** A token, and the form in which the URI of its document has its id. */
type TokenAddress = { tokenId: bigint; standard: 721 | 1155; uri: string; form: IdForm };

/** A token's metadata in the document at its URI, or why there is none. */
export function parseTokenDocument(
  { tokenId, standard, uri, form }: TokenAddress,
  document: FetchedDocument,
): TokenMetadata | string {
  if (isPicture(document.mediaType)) {
    return imageMetadata(uri, document.mediaType) ?? noMetadata;
  }
  const json = parseJsonDocument(document.bytes, document.charset);
  if (typeof json === "string") return json;
  const written = standard === 1155 ? withTokenId(json, tokenId) : json;
  return parseTokenMetadata(written, tokenId, form) ?? reasonOfNone(json);
}

/** The same of a contract. */
function parseContractDocument(document: FetchedDocument): ContractMetadata | string {
  if (isPicture(document.mediaType)) return "the document is a picture, not JSON";
  const json = parseJsonDocument(document.bytes, document.charset);
  return typeof json === "string" ? json : (parseContractMetadata(json) ?? reasonOfNone(json));
}

const noMetadata = "the document has no metadata";

const reasonOfNone = (document: JsonObject): string =>
  isJsonSchema(document) ? "the document is a JSON schema, not metadata" : noMetadata;
