import type { ChainId } from "#chains/index.ts";
import type { Observation } from "#projections/log/append.ts";
import {
  contractMetadataFetched,
  metadataConfirmed,
  tokenMetadataFetched,
} from "#projections/metadata/facts.ts";
import type { Random } from "./random.ts";
import { tokens, traded } from "./trades.ts";

/** What a token's or a contract's document says, that it could not be had, or that it says what it said. */
export function fetchMetadata(random: Random, chainId: ChainId, turn: number): Observation[] {
  const contract = random.pick(traded);
  const tokenId = random.pick(tokens);
  const subject = { chainId, contract, recordedAt: new Date(1_800_000_000_000 + turn * 1_000) };
  const after = BigInt(turn);
  const failure = { error: "no answer", attempt: random.int(1, 3) };
  const nothing = { description: null, image: null };
  const attributes = ["Fur", "Hat"].map((trait) => {
    return { trait_type: trait, value: random.pick(["Gold", "gold", "None"]) };
  });
  return random.pick<Observation[]>([
    tokens.map((id) =>
      tokenMetadataFetched({ ...subject, after, tokenId: id }, `data:${turn}`, {
        ...nothing,
        name: `Token ${id} in ${turn}`,
        animation: null,
        contentType: null,
        attributes,
      }),
    ),
    [tokenMetadataFetched({ ...subject, after, tokenId }, null, failure)],
    [
      contractMetadataFetched({ ...subject, after }, "data:", {
        ...nothing,
        name: `Told in ${turn}`,
        banner: null,
        website: null,
        twitter: null,
        discord: null,
      }),
    ],
    [contractMetadataFetched({ ...subject, after }, null, failure)],
    [metadataConfirmed({ ...subject, after, tokenId })],
  ]);
}
