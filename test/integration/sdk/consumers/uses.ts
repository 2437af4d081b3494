import { MarketError, type MarketEvent, market } from "order-book";
import { type Plan, postedIds, trader, WalletError } from "order-book/viem";
import { createPublicClient, createWalletClient, http, zeroAddress } from "viem";

// Compiled and run in the project of a caller: what the types allow, and what they refuse.
const api = market({ url: "http://127.0.0.1:9", chainId: 1, retry: { tries: 1 } });
const transport = http("http://127.0.0.1:9");
const walletClient = createWalletClient({ account: zeroAddress, transport });
const seller = trader(api, { walletClient, publicClient: createPublicClient({ transport }) });

export async function read(): Promise<string> {
  const { data, meta } = await api.get("/v1/sales", { collection: "a", per_page: 5 });
  const some = await api.get("/v1/sales", { fields: ["saleId", "priceWei"] });
  some.data satisfies { saleId: string; priceWei: string }[];
  // @ts-expect-error: a field that was not asked for
  some.data[0]?.usd;
  // @ts-expect-error: no such field
  api.get("/v1/sales", { fields: ["tokenid"] });
  const names = ["usd" as const];
  (await api.get("/v1/sales", { fields: names })).data[0]?.usd satisfies number | null | undefined;
  for await (const row of api.pages("/v1/listings", { fields: ["askId"] }))
    row satisfies { askId: string };
  // @ts-expect-error: no such path
  api.get("/v1/nothing");
  // @ts-expect-error: the path needs tokenId
  api.get("/v1/collections/{collection}/tokens/{tokenId}", { collection: "a" });
  for await (const row of api.pages("/v1/listings", { collection: "a" }, { limit: 3 }))
    row.askId satisfies string;
  for await (const event of api.feed()) event satisfies MarketEvent;
  return (data[0]?.saleId ?? "") + meta.total;
}

export async function sell(): Promise<Plan> {
  const item = { contract: zeroAddress, tokenId: 1n, unitPriceWei: 1n };
  // @ts-expect-error: a price is no number
  seller.list([{ ...item, unitPriceWei: 1 }]);
  const plan = await seller.list([item], { onStep: ({ kind, state }) => void `${kind} ${state}` });
  postedIds(plan) satisfies string[];
  return plan;
}

const refused = await read().catch((error: unknown) => error);
const code = refused instanceof MarketError && refused.code;
process.stdout.write(`${code} ${WalletError.name} ${typeof seller.buy}\n`);
