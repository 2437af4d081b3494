import process from "node:process";
import { openDatabase } from "#projections/log/database.ts";
import { startDelivering } from "./delivering.ts";

/** A process that delivers until it is killed: its arguments are the database's URL and the receivers' origin. */
const [url = "", origin = ""] = process.argv.slice(2);
const db = openDatabase({ url, applicationName: "delivering", onIdleError: () => {} });
startDelivering({ db, sending: { allowedOrigins: [origin] } });
