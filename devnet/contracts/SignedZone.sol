// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {ZoneParameters} from "seaport-types/src/lib/ConsiderationStructs.sol";

/// Lets an order be filled by whom its signer names, until when he says. Layout and errors of SIP-7; the context is
/// signed but not looked at. Stands where the real zone stands, so it has no constructor: the signer is a constant.
contract SignedZone {
    /// Account 8 of anvil's public test phrase.
    address public constant signer = 0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f;

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant SIGNED_ORDER =
        keccak256("SignedOrder(address fulfiller,uint64 expiration,bytes32 orderHash,bytes context)");

    error InvalidExtraData(string reason, bytes32 orderHash);
    error InvalidFulfiller(address expectedFulfiller, address actualFulfiller, bytes32 orderHash);
    error SignatureExpired(uint256 currentTimestamp, uint256 expiration, bytes32 orderHash);
    error SignerNotActive(address signer, bytes32 orderHash);

    /// The exchange asks before it moves anything.
    function authorizeOrder(ZoneParameters calldata order) external view returns (bytes4) {
        check(order);
        return this.authorizeOrder.selector;
    }

    /// And again when it has.
    function validateOrder(ZoneParameters calldata order) external view returns (bytes4) {
        check(order);
        return this.validateOrder.selector;
    }

    function check(ZoneParameters calldata order) private view {
        bytes calldata data = order.extraData;
        if (data.length < 93) revert InvalidExtraData("extraData is shorter than 93 bytes", order.orderHash);
        if (data[0] != 0x00) revert InvalidExtraData("SIP-6 version byte is not 0", order.orderHash);
        address fulfiller = address(bytes20(data[1:21]));
        if (fulfiller != address(0) && fulfiller != order.fulfiller) {
            revert InvalidFulfiller(fulfiller, order.fulfiller, order.orderHash);
        }
        uint64 expiration = uint64(bytes8(data[21:29]));
        if (block.timestamp > expiration) revert SignatureExpired(block.timestamp, expiration, order.orderHash);
        bytes32 hash = keccak256(
            abi.encode(SIGNED_ORDER, fulfiller, expiration, order.orderHash, keccak256(data[93:]))
        );
        address recovered = recover(hash, bytes32(data[29:61]), bytes32(data[61:93]));
        if (recovered != signer) revert SignerNotActive(recovered, order.orderHash);
    }

    function recover(bytes32 structHash, bytes32 r, bytes32 vs) private view returns (address) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN, keccak256("OpenSeaSignedZone"), keccak256("2.0"), block.chainid, address(this))
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", domain, structHash));
        return ecrecover(digest, uint8(uint256(vs) >> 255) + 27, r, vs & bytes32(type(uint256).max >> 1));
    }
}
