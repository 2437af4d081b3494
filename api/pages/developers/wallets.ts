import { linkWallet, unlinkWallet } from "#api/accounts/wallets.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import { showAccountWith } from "./account.ts";
import { type Developers, refusalReply, type SignedIn, type SignedInHandler } from "./layout.ts";
import { signedOf } from "./wallet-section.ts";

export const submitWallet: SignedInHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const { address } = visit.visitor;
  const refused = await linkWallet(accounts, signedIn.session, signedOf(visit), address);
  return answered(developers, signedIn, "wallet", refused);
};

export const submitUnlinking: SignedInHandler = async (developers, visit, signedIn) => {
  const id = visit.key("id");
  const isNumber = /^\d{1,9}$/.test(id);
  const refused =
    isNumber && (await unlinkWallet(developers.accounts, signedIn.session, Number(id)));
  return answered(developers, signedIn, "unlinked", refused || null);
};

async function answered(
  developers: Developers,
  signedIn: SignedIn,
  done: string,
  refused: (Rejection & Parameters<typeof refusalReply>[0]) | null,
) {
  if (refused === null) return { to: `/developers/account?done=${done}` };
  const { message } = refused;
  return refusalReply(refused, await showAccountWith(developers, signedIn, { message }));
}
