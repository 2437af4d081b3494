import type { Address } from "viem";
import type { ContractMetadata } from "../domain/metadata/contract-metadata.ts";
import type { TokenMetadata } from "../domain/metadata/token-metadata.ts";
import { contentIdentity, type Observation } from "../log/append.ts";
import type { FactKind } from "../log/fact-kinds.ts";

/** What was fetched, and when. Without `tokenId` it is the contract's own. */
export type MetadataSubject = {
  chainId: number;
  contract: Address;
  tokenId?: bigint;
  recordedAt: Date;
  /** The block that its URI was read at. Absent: none, as of releases before. */
  basis?: Observation["basis"];
  /** Position of the subject's previous fact. Content that returns after other content is another fact. */
  after?: bigint | null;
  /** Position of the fact that was shown till then: this one takes its place, or confirms it. */
  shown?: bigint | null;
};

/** Why the fetch failed, and the number of consecutive failures. */
export type Failure = { error: string; attempt: number };

const nothing = { name: null, description: null, image: null };

/** A token's metadata, or that it could not be had. */
export function tokenMetadataFetched(
  subject: MetadataSubject & { tokenId: bigint },
  tokenUri: string | null,
  found: TokenMetadata | Failure,
): Observation {
  const unknown = { ...nothing, animation: null, contentType: null, attributes: [] };
  return observation("token_metadata_fetched", subject, {
    ...("error" in found
      ? { status: "failed", tokenUri, ...unknown, ...found }
      : { status: "ok", tokenUri, ...found }),
  });
}

/** The same of a contract. */
export function contractMetadataFetched(
  subject: MetadataSubject,
  uri: string | null,
  found: ContractMetadata | Failure,
): Observation {
  const unknown = { ...nothing, banner: null, website: null, twitter: null, discord: null };
  return observation("contract_metadata_fetched", subject, {
    ...("error" in found
      ? { status: "failed", uri, ...unknown, ...found }
      : { status: "ok", uri, ...found }),
  });
}

/** What was fetched again says what the last fact says. */
export function metadataConfirmed(subject: MetadataSubject): Observation {
  return observation("metadata_confirmed", subject, undefined);
}

function observation(
  kind: FactKind,
  { chainId, contract, tokenId, recordedAt, basis, after, shown }: MetadataSubject,
  payload: unknown,
): Observation {
  const about = [kind, chainId, contract, tokenId?.toString(), payload, after?.toString()];
  // Read again at another block, where the first one was retracted, it is another fact.
  const content = basis === undefined ? about : [...about, basis.hash];
  const identity = contentIdentity(content);
  return {
    kind,
    chainId,
    contract,
    identity,
    recordedAt,
    ...(basis && { basis }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(shown && { amount: shown }),
    ...(payload === undefined ? {} : { payload }),
  };
}
