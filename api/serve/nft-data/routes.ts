import { activity } from "./activity.ts";
import { login } from "./auth/login.ts";
import { batchCollections } from "./batch/collections.ts";
import { batchWallets } from "./batch/wallets.ts";
import { attributes } from "./collections/attributes.ts";
import { collection } from "./collections/collection.ts";
import { holders } from "./collections/holders.ts";
import { listCollections, listCollectionsAlias } from "./collections/list.ts";
import { token } from "./collections/token.ts";
import { tokens } from "./collections/tokens.ts";
import type { NftDataRoute } from "./context.ts";
import { walletActivity } from "./wallets/activity.ts";
import { walletTokens } from "./wallets/tokens.ts";

/** Every endpoint, in the order of the document. */
export const nftDataRoutes: readonly NftDataRoute[] = [
  login,
  listCollections,
  listCollectionsAlias,
  collection,
  attributes,
  tokens,
  token,
  holders,
  walletTokens,
  walletActivity,
  activity,
  batchCollections,
  batchWallets,
];
