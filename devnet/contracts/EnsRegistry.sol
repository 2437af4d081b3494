// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

/// The ENS registry (EIP-137). Needs no constructor: whoever installs it stores the root's owner.
contract EnsRegistry {
    mapping(bytes32 node => address) public owner;
    mapping(bytes32 node => address) public resolver;

    event NewOwner(bytes32 indexed node, bytes32 indexed label, address owner);
    event NewResolver(bytes32 indexed node, address resolver);

    error NotOwner();

    modifier onlyOwner(bytes32 node) {
        if (msg.sender != owner[node]) revert NotOwner();
        _;
    }

    function setSubnodeRecord(bytes32 node, bytes32 label, address owner_, address resolver_)
        external
        onlyOwner(node)
    {
        bytes32 subnode = keccak256(abi.encodePacked(node, label));
        owner[subnode] = owner_;
        resolver[subnode] = resolver_;
        emit NewOwner(node, label, owner_);
        emit NewResolver(subnode, resolver_);
    }

    function setResolver(bytes32 node, address resolver_) external onlyOwner(node) {
        resolver[node] = resolver_;
        emit NewResolver(node, resolver_);
    }

    function recordExists(bytes32 node) external view returns (bool) {
        return owner[node] != address(0);
    }
}
