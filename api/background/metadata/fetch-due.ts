import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../../projections/database.ts";
import {
  type ContractMetadata,
  parseContractMetadata,
} from "../../../projections/domain/metadata/contract-metadata.ts";
import { parseJsonDocument } from "../../../projections/domain/metadata/json-document.ts";
import { substituteId } from "../../../projections/domain/metadata/location.ts";
import { parseUri } from "../../../projections/domain/metadata/media.ts";
import {
  imageMetadata,
  parseTokenMetadata,
  type TokenMetadata,
} from "../../../projections/domain/metadata/token-metadata.ts";
import {
  contractMetadataFetched,
  metadataConfirmed,
  tokenMetadataFetched,
} from "../../../projections/facts/metadata-fetched.ts";
import { appendObservations, type Observation } from "../../../projections/log/append.ts";
import type { MetadataTarget } from "../../../projections/reads/metadata/read-due-metadata.ts";
import { readTradedContracts } from "../../../projections/reads/sales/read-traded-contracts.ts";
import type { ChainClient } from "../chain/clients.ts";
import {
  byContract,
  type ContractCost,
  fetchWithinBudget,
  type PassResult,
} from "./contract-budget.ts";
import type { DocumentFetcher, FetchCost } from "./document-fetcher.ts";
import { type Document, isPicture } from "./fetch-document.ts";
import { fetchUris, type UriResult } from "./fetch-uris.ts";
import {
  type StorageMeter,
  tradedBytes,
  type UnpaidBudget,
  unpaidBytes,
  unpaidShare,
  untradedBytes,
} from "./storage-budget.ts";

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
  /** How the pass of each contract ended. A host that is cooling down makes a contract costly. */
  results: ReadonlyMap<number, PassResult>;
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
  if (subjects.length === 0) return { recorded: 0, head: 0n, results: new Map() };
  const works = byContract(subjects, await fetchUris(work.client, subjects));
  const contractIds = works.map(({ contractId }) => contractId);
  const traded = await readTradedContracts(work.db, work.client.chainId, contractIds);
  const results = new Map<number, PassResult>();
  const outcome = { recorded: 0, head: 0n, results };
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
  { client, fetcher, now, signal }: FetchContext,
  subject: MetadataTarget,
  answer: UriResult,
  cost: FetchCost,
): Promise<Observation | undefined> {
  if (answer === undefined) return undefined;
  const fact = { chainId: client.chainId, recordedAt: now };
  if ("fault" in answer) return toFact(fact, subject, null, answer.fault);
  const uri = uriOf(subject, answer.uri);
  const document = await fetcher.fetchDocument(uri, signal, cost);
  if (document === undefined) return undefined;
  return toFact(fact, subject, uri, "fault" in document ? document.fault : document);
}

function uriOf({ tokenId, standard }: MetadataTarget, uri: string): string {
  return tokenId !== null && standard === 1155 ? substituteId(uri, tokenId) : uri;
}

function toFact(
  { chainId, recordedAt }: { chainId: number; recordedAt: () => Date },
  subject: MetadataTarget,
  uri: string | null,
  document: Document | string,
): Observation {
  const { contract, tokenId, attempt, lastPosition } = subject;
  const about = { chainId, contract, recordedAt: recordedAt(), after: lastPosition };
  const failure = (error: string) => ({ error, attempt: attempt + 1 });
  const error = typeof document === "string" ? document : null;
  const kept = uri === null ? null : parseUri(uri);
  if (tokenId === null) {
    const found = error ?? parseContract(document as Document);
    const fact = contractMetadataFetched(
      about,
      kept,
      typeof found === "string" ? failure(found) : found,
    );
    return isKnown(subject, fact) ? metadataConfirmed(about) : fact;
  }
  const ofToken = { ...about, tokenId };
  const found = error ?? parseToken(subject, uri ?? "", document as Document);
  const fact = tokenMetadataFetched(
    ofToken,
    kept,
    typeof found === "string" ? failure(found) : found,
  );
  return isKnown(subject, fact) ? metadataConfirmed(ofToken) : fact;
}

function isKnown({ known }: MetadataTarget, { payload }: Observation): boolean {
  return known !== null && isDeepStrictEqual(known, JSON.parse(JSON.stringify(payload)));
}

const noMetadata = "the document has no metadata";

function parseToken(
  { tokenId, standard }: MetadataTarget,
  uri: string,
  { mediaType, bytes }: Document,
): TokenMetadata | string {
  if (isPicture(mediaType)) return imageMetadata(uri, mediaType) ?? noMetadata;
  const document = parseJsonDocument(bytes);
  if (typeof document === "string") return document;
  const editionId = standard === 1155 && tokenId !== null ? tokenId : undefined;
  return parseTokenMetadata(document, editionId) ?? noMetadata;
}

function parseContract({ mediaType, bytes }: Document): ContractMetadata | string {
  if (isPicture(mediaType)) return "the document is a picture, not JSON";
  const document = parseJsonDocument(bytes);
  return typeof document === "string" ? document : (parseContractMetadata(document) ?? noMetadata);
}
