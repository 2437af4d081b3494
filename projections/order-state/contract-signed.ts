import { sql } from "kysely";

/** Of the fact `f` of an order: whether its maker is known for a contract whose word the signature is. */
export const contractSigned = sql`coalesce(f.payload ->> 'signedBy' = 'contract', false)`;
