import type { Visit } from "../page/visit.ts";
import { pageLink } from "../parts/links.ts";

/** A view of a wallet. */
export function walletView(
  { chainId }: Visit,
  wallet: string,
  more: Readonly<Record<string, string>>,
): string {
  return pageLink(`/wallets/${wallet}`, { chainId, ...more });
}
