import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { holdings, wrappedCurrency } from "#devnet/market/actors.ts";
import { bidding, selling } from "#devnet/market/selling.ts";
import { accountSigner, type MarketContext } from "#devnet/market/signer.ts";

/** An account that nobody has seen before, with ten coins for what it does. */
export async function newcomer(market: MarketContext) {
  const account = privateKeyToAccount(generatePrivateKey());
  await market.client.setBalance({ address: account.address, value: parseEther("10") });
  const signer = accountSigner(market, account);
  return {
    ...signer,
    account,
    ...holdings(signer),
    ...wrappedCurrency(market, signer),
    ...selling(market, signer),
    ...bidding(market, signer),
  };
}
