import type { ChainId } from "../../../../abis/deployments.ts";

export const chainNames: Record<ChainId, string> = { 1: "ethereum", 33139: "ape_chain" };
