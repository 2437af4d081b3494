import { request } from "node:http";
import type { Address } from "viem";
import { accounts } from "#devnet/accounts.ts";

const timeoutMs = 30_000;
/** A caller of its own: what it asks counts for no honest caller's budget. */
const localAddress = "127.0.0.2";
const chainId = 33139;

/** Asks the service for what makes it call a contract; whatever is answered. */
export async function askAbout(baseUrl: string, contract: Address): Promise<void> {
  const maker = accounts.grace.address;
  const item = { contract, tokenId: "1", quantity: 1, unitPriceWei: "1000000000000000000" };
  const params = new URLSearchParams({ chainId: `${chainId}`, maker, contract, tokenId: "1" });
  const items = JSON.stringify({ chainId, maker, items: Array(10).fill(item) });
  await Promise.all([
    send(baseUrl, `/v1/orders/params?${params}&unitPriceWei=${item.unitPriceWei}`),
    send(baseUrl, "/v1/listings/requirements", items),
    send(baseUrl, `/v1/collections/${contract}/traits?chainId=${chainId}`),
    send(baseUrl, `/v1/collections/${contract}/tokens?chainId=${chainId}`),
    send(baseUrl, `/v1/collections/${contract}/holders?chainId=${chainId}`),
  ]);
}

function send(baseUrl: string, path: string, body?: string): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(baseUrl + path, {
      ...{ localAddress, method: body === undefined ? "GET" : "POST" },
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.on("response", (response) => response.resume().on("close", resolve));
    sent.on("error", () => resolve());
    sent.end(body);
  });
}
