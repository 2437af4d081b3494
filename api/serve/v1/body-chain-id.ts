import { bodyChainId as named } from "./orders/submission.ts";

/** The chain that a JSON body is about: 1 where it names none. */
export const bodyChainId = named
  .default(1)
  .meta({ description: "Chain the request is about.", override: { default: 1 } });
