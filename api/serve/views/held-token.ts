import type { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { WalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import type { MediaLinks } from "./media.ts";
import type { OrderViewContext } from "./orders/book-order.ts";
import { presentToken, Token } from "./token.ts";
import { uint256Text } from "./wire.ts";

/** A token that a wallet holds. */
export const HeldToken = Token.extend({
  units: uint256Text.meta({ description: "Units that the wallet holds; 1 of an ERC-721 token." }),
}).meta({ id: "HeldToken" });

export function presentHeld(
  { held, collection, ...token }: WalletTokenDetails,
  { chainId, siteUrl, prefix, media }: OrderViewContext & { chainId: ChainId; media: MediaLinks },
): z.output<typeof HeldToken> {
  const named = {
    collection,
    chainId,
    view: { siteUrl, prefix },
    media: { ...media, isList: true },
  };
  return { ...presentToken(token, named), units: String(held.units) };
}
