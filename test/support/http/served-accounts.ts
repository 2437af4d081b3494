import type { LocalAccount } from "viem";
import type { AccountContext } from "#api/accounts/account-context.ts";
import { openPasswords } from "#api/accounts/passwords.ts";
import { offerSiwe, type SignedSiwe } from "#api/accounts/siwe.ts";
import { openThrottle } from "#api/accounts/throttle.ts";
import type { Context } from "#api/v1/context.ts";
import { accounts } from "#devnet/accounts.ts";
import { isRejection } from "#projections/domain/rejection.ts";

const clock = () => null;

/** Accounts without mail, below `baseUrl`. */
export const accountsOf = (
  { db, chains, market }: Pick<Context, "db" | "chains" | "market">,
  baseUrl: string,
): AccountContext => ({
  ...{ db, clock, chains, baseUrl, queryChain: market.queryChain },
  throttle: openThrottle(db, clock),
  passwords: openPasswords(),
  mailer: { delivery: "none", send: () => {}, close: async () => {} },
  reauthenticationMinutes: 15,
  webhookOrigins: [],
});

/** A message that somebody signed, good for one sign-in. */
export async function signSiwe(
  context: AccountContext,
  wallet: LocalAccount = accounts.alice,
): Promise<SignedSiwe> {
  const [chainId = 1] = context.chains;
  const offered = await offerSiwe(context, { address: wallet.address, chainId }, "local");
  if (isRejection(offered)) throw new Error(offered.message);
  const { message } = offered;
  return { message, signature: await wallet.signMessage({ message }) };
}
