import { request } from "node:http";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import {
  draftBidComponents,
  draftListingComponents,
} from "#projections/domain/seaport/draft-components.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { resign } from "./intake-fixture.ts";
import { testFee } from "./test-market.ts";

type Posted = {
  status: number;
  code?: string;
  message?: string;
  data: { results: { code?: string }[] };
};

/** Posts JSON from an address of this machine, such as `127.0.2.66`. */
export function postFrom(localAddress: string, url: string, body: unknown): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = request(url, { localAddress, method: "POST", headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const answer = JSON.parse(Buffer.concat(parts).toString());
        resolve({ ...answer, status: response.statusCode ?? 0 });
      });
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

type Wanted = { contract: Address; tokenId: (maker: Address) => bigint; priceWei: bigint };

/** An order by a key that nobody has seen before, of a token whose id may depend on its address. */
export async function signedByStranger(
  chainId: ChainId,
  side: "ask" | "bid",
  { contract, tokenId, priceWei }: Wanted,
): Promise<SignedOrder> {
  const account = privateKeyToAccount(generatePrivateKey());
  const maker = account.address.toLowerCase() as Address;
  const now = BigInt(Math.floor(Date.now() / 1000));
  const terms = {
    maker,
    nft: { standard: "erc721", contract, tokenId: tokenId(maker) },
    quantity: 1n,
    price: { unitPriceWei: priceWei, fee: testFee, royalty: null },
    startTime: now - 10n,
    endTime: now + 86_400n,
    salt: BigInt(Date.now()),
    counter: 0n,
  } as const;
  const currency = wrappedNative[chainId];
  return resign(
    chainId,
    account,
    side === "ask" ? draftListingComponents(terms) : draftBidComponents({ ...terms, currency }),
  );
}
