import type { Address } from "viem";
import { accounts } from "../../devnet/accounts.ts";

const timeoutMs = 30_000;
const chainId = 33139;

/** Asks the service for what makes it call a contract; whatever is answered. */
export async function askAbout(baseUrl: string, contract: Address): Promise<void> {
  const maker = accounts.grace.address;
  const item = { contract, tokenId: "1", quantity: 1, unitPriceWei: "1000000000000000000" };
  const params = new URLSearchParams({ chainId: `${chainId}`, maker, contract, tokenId: "1" });
  const requests: [string, RequestInit][] = [
    [`/v1/orders/params?${params}&unitPriceWei=${item.unitPriceWei}`, {}],
    [
      "/v1/listings/requirements",
      { method: "POST", body: JSON.stringify({ chainId, maker, items: Array(10).fill(item) }) },
    ],
    [`/v1/collections/${contract}/traits?chainId=${chainId}`, {}],
    [`/v1/collections/${contract}/tokens?chainId=${chainId}`, {}],
    [`/v1/collections/${contract}/holders?chainId=${chainId}`, {}],
  ];
  const send = async ([path, init]: [string, RequestInit]) => {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
  };
  await Promise.all(requests.map((request) => send(request).catch(() => {})));
}
