import { sql } from "kysely";

/** Whether the fact `f` of an order says that a contract signed it (ERC-1271). */
export const contractSigned = sql`coalesce(f.payload ->> 'signedBy' = 'contract', false)`;
