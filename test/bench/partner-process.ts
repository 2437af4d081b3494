import { argv } from "node:process";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";

/** A partner's stand-in with `count` listings of one contract, in a process of its own. */
const [, , name, contract = "", count = ""] = argv;
const standIn = await (name === "opensea" ? openPartnerA() : openPartnerB());
await standIn.showMany({ chainId: 1, contract: contract as `0x${string}`, count: Number(count) });
process.send?.({ url: standIn.url });
process.on("disconnect", () => process.exit(0));
