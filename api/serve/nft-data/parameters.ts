import { z } from "zod";
import { traitFilter, wallet } from "../v1/routing/parameters.ts";

/** Codes of every endpoint with path or query parameters. */
export const readRefusals = { invalid_parameters: 422 } as const;

export const address = wallet;

export const collectionAddress = wallet.meta({
  description: "0x address of any contract of a collection.",
  override: { pattern: "^0x[a-fA-F0-9]{40}$" },
});

export const attributes = traitFilter("attributes");

const maxAddresses = 10;

/** The body of a batch request. */
export const addresses = z.array(wallet).max(maxAddresses);
