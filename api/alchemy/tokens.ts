import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readTokenHolders } from "#projections/tokens/read-holders.ts";
import { token } from "../v1/collections/token.ts";
import { tokens } from "../v1/collections/tokens.ts";
import { askContract } from "./contracts.ts";
import { AlchemyNft, BareNft, presentNft } from "./nft.ts";
import { alchemyTokenId, contractAddress, ignored, pageKey, rowLimit, yes } from "./parameters.ts";
import { type AlchemyContext, alchemyRoute, ask, callRefusals, contractIdsOf } from "./route.ts";

type TokenPlace = { readonly contract: string; readonly tokenId: bigint };

type ContractAnswer = ReturnType<typeof askContract>;

/** A token with its contract; a refusal where either is unknown. `contracts`: those asked for before. */
async function askNft(
  { contract, tokenId }: TokenPlace,
  context: AlchemyContext,
  contracts: Map<string, ContractAnswer> = new Map(),
) {
  const params = { collection: contract, tokenId: `${tokenId}` };
  const found = await ask(token, { params }, context);
  if (isRejection(found)) return found;
  const asked = contracts.get(contract) ?? askContract(contract, context);
  contracts.set(contract, asked);
  const known = await asked;
  return isRejection(known) ? known : { data: presentNft(found.data, known.data) };
}

export const nftMetadata = alchemyRoute(
  {
    method: "get",
    path: "/getNFTMetadata",
    operationId: "getNFTMetadata",
    tag: "Alchemy",
    summary: "A token with its metadata, as it was last fetched",
    query: z.object({
      contractAddress,
      tokenId: alchemyTokenId,
      tokenType: ignored,
      tokenUriTimeoutInMs: ignored,
      refreshCache: ignored,
    }),
    data: AlchemyNft,
    refuses: callRefusals,
  },
  ({ query }, context) =>
    askNft({ contract: query.contractAddress, tokenId: query.tokenId }, context),
);

const mostTokens = 100;

const namedToken = z.object({
  contractAddress,
  tokenId: z.union([z.string(), z.int().min(0).transform(String)]).pipe(alchemyTokenId),
  tokenType: ignored,
});

export const nftMetadataBatch = alchemyRoute(
  {
    method: "post",
    path: "/getNFTMetadataBatch",
    operationId: "getNFTMetadataBatch",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Tokens with their metadata, in the order of the request; unknown ones are left out",
    body: z.object({
      tokens: z.array(namedToken).min(1).max(mostTokens),
      tokenUriTimeoutInMs: ignored,
      refreshCache: ignored,
    }),
    data: z.object({ nfts: z.array(AlchemyNft) }),
    refuses: { ...callRefusals, bad_request: 400 },
    reads: "snapshot",
    scope: "read",
  },
  async ({ body }, context) => {
    const nfts = [];
    const contracts = new Map<string, ContractAnswer>();
    for (const { contractAddress: contract, tokenId } of body.tokens) {
      const answer = await askNft({ contract, tokenId }, context, contracts);
      if (!isRejection(answer)) nfts.push(answer.data);
    }
    return { data: { nfts } };
  },
);

export const nftsOfContract = alchemyRoute(
  {
    method: "get",
    path: "/getNFTsForContract",
    operationId: "getNFTsForContract",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Tokens of a contract by id, burned ones too",
    query: z.object({
      contractAddress,
      withMetadata: yes,
      limit: rowLimit(100),
      pageKey,
      startToken: ignored,
      tokenUriTimeoutInMs: ignored,
    }),
    data: z.object({
      nfts: z.array(z.union([AlchemyNft, BareNft])),
      pageKey: z.string().nullable(),
    }),
    refuses: callRefusals,
  },
  async ({ query }, context) => {
    const { contractAddress: contract, withMetadata = true, limit, pageKey: cursor } = query;
    if (query.startToken !== undefined) return noStartToken;
    const params = { collection: contract };
    const page = await ask(tokens, { params, query: { per_page: `${limit}`, cursor } }, context);
    if (isRejection(page)) return page;
    const known = await askContract(contract, context);
    if (isRejection(known)) return known;
    const nfts = page.data.map((one) =>
      withMetadata
        ? presentNft(one, known.data)
        : { contractAddress: one.contract, tokenId: one.tokenId },
    );
    return { data: { nfts, pageKey: page.meta?.next_cursor ?? null } };
  },
);

const noStartToken = reject(
  "invalid_parameters",
  "startToken: is not known here, go on with pageKey",
  [{ field: "startToken", message: "is not known here, go on with pageKey" }],
);

/** Most holders of an id in an answer. */
const mostOwners = 10_000;

export const ownersOfNft = alchemyRoute(
  {
    method: "get",
    path: "/getOwnersForNFT",
    operationId: "getOwnersForNFT",
    tag: "Alchemy",
    summary: `Who holds a token; of an ERC-1155 id the first ${mostOwners} by address`,
    query: z.object({ contractAddress, tokenId: alchemyTokenId }),
    data: z.object({ owners: z.array(z.string()), pageKey: z.null() }),
    refuses: callRefusals,
  },
  async ({ query: { contractAddress: contract, tokenId } }, context) => {
    const params = { collection: contract, tokenId: `${tokenId}` };
    const found = await ask(token, { params }, context);
    if (isRejection(found)) return found;
    const ids = await contractIdsOf(contract, context);
    if (isRejection(ids)) return ids;
    const held = await readTokenHolders(context.db, ids, tokenId, { limit: mostOwners });
    const { owner } = found.data;
    const owners = new Set([...(owner === null ? [] : [owner]), ...held.map((one) => one.owner)]);
    return { data: { owners: [...owners], pageKey: null } };
  },
);
