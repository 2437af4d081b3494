import type { Hex } from "viem";

/**
 * Says that the address in the lowest 20 bytes of an id owns it, once it has read as many slots as the bytes above say:
 * as ERC-721A, whose `ownerOf` walks back over a batch. What was transferred has an owner of its own.
 */
export const walking: Hex =
  "0x60003560e01c80636352211e14602e578063e985e9c514607657806323b872dd146081576301ffc9a714608a57005b600435805480606d57508060a01c5b8015604d5780545060019003603d565b5073ffffffffffffffffffffffffffffffffffffffff1660005260206000f35b60005260206000f35b600160005260206000f35b60243560443555005b60043560e01c6380ac58cd1460005260206000f3";
