import { argv } from "node:process";
import { openPartnerA } from "../../devnet/marketplaces/partner-a.ts";
import { openPartnerB } from "../../devnet/marketplaces/partner-b.ts";

/** A partner's stand-in with `count` listings of one contract, in a process of its own. */
const [, , name, contract = "", count = ""] = argv;
const standIn = await (name === "opensea" ? openPartnerA() : openPartnerB());
await standIn.showMany({ chainId: 1, contract: contract as `0x${string}`, count: Number(count) });
process.send?.({ url: standIn.url });
process.on("disconnect", () => process.exit(0));
