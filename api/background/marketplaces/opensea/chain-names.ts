import type { ChainId } from "../../../../chains/index.ts";

export const chainNames: Record<ChainId, string> = { 1: "ethereum", 33139: "ape_chain" };
