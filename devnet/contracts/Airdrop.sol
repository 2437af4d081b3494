// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// Whoever is in a snapshot of holders claims once what the snapshot says.
contract Airdrop {
    bytes32 public immutable root;
    mapping(address => uint256) public claimed;

    error NotInSnapshot();
    error AlreadyClaimed();

    constructor(bytes32 root_) {
        root = root_;
    }

    function claim(uint256 units, bytes32[] calldata proof) external {
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(msg.sender, units))));
        if (!MerkleProof.verifyCalldata(proof, root, leaf)) revert NotInSnapshot();
        if (claimed[msg.sender] != 0) revert AlreadyClaimed();
        claimed[msg.sender] = units;
        // Send what the units are worth here.
    }
}
