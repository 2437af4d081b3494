import { type Attack, attack } from "./attack.ts";

process.on("message", async (message: Attack) => process.send?.(await attack(message)));
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
