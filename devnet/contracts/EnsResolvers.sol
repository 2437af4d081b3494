// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {EnsRegistry} from "./EnsRegistry.sol";

interface IAddrResolver {
    function addr(bytes32 node) external view returns (address);
}

interface IAddressResolver {
    function addr(bytes32 node, uint256 coinType) external view returns (bytes memory);
}

interface INameResolver {
    function name(bytes32 node) external view returns (string memory);
}

interface IExtendedResolver {
    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory);
}

/// Addresses per coin type (EIP-2304) and names (EIP-181) of exactly the nodes they were set for.
contract PublicResolver is IAddrResolver, IAddressResolver, INameResolver {
    EnsRegistry private immutable registry;
    mapping(bytes32 node => mapping(uint256 coinType => bytes)) private addresses;
    mapping(bytes32 node => string) public name;

    event AddressChanged(bytes32 indexed node, uint256 coinType, bytes newAddress);
    event NameChanged(bytes32 indexed node, string name);

    error NotOwner();

    constructor(EnsRegistry registry_) {
        registry = registry_;
    }

    modifier onlyOwner(bytes32 node) {
        if (msg.sender != registry.owner(node)) revert NotOwner();
        _;
    }

    function setAddr(bytes32 node, uint256 coinType, bytes calldata a) external onlyOwner(node) {
        addresses[node][coinType] = a;
        emit AddressChanged(node, coinType, a);
    }

    function setName(bytes32 node, string calldata newName) external onlyOwner(node) {
        name[node] = newName;
        emit NameChanged(node, newName);
    }

    function addr(bytes32 node) external view returns (address) {
        return address(bytes20(addresses[node][60]));
    }

    function addr(bytes32 node, uint256 coinType) external view returns (bytes memory) {
        return addresses[node][coinType];
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == type(IAddrResolver).interfaceId || id == type(IAddressResolver).interfaceId
            || id == type(INameResolver).interfaceId;
    }
}

/// Answers for every name below its own by the leftmost label (ENSIP-10). Has no `addr` of its own.
contract WildcardResolver is IExtendedResolver {
    mapping(bytes32 labelHash => mapping(uint256 coinType => bytes)) private addresses;

    error UnsupportedResolverProfile(bytes4 selector);

    function setAddr(string calldata label, uint256 coinType, bytes calldata a) external {
        addresses[keccak256(bytes(label))][coinType] = a;
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory) {
        bytes32 label = keccak256(name[1:1 + uint8(name[0])]);
        bytes4 selector = bytes4(data);
        if (selector == IAddrResolver.addr.selector) return abi.encode(address(bytes20(addresses[label][60])));
        if (selector != IAddressResolver.addr.selector) revert UnsupportedResolverProfile(selector);
        (, uint256 coinType) = abi.decode(data[4:], (bytes32, uint256));
        return abi.encode(addresses[label][coinType]);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == type(IExtendedResolver).interfaceId;
    }
}

/// Knows nothing itself and sends the asker to a gateway (EIP-3668).
contract OffchainResolver is IExtendedResolver {
    string private gateway;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    constructor(string memory gateway_) {
        gateway = gateway_;
    }

    function resolve(bytes calldata, bytes calldata data) external view returns (bytes memory) {
        string[] memory urls = new string[](1);
        urls[0] = gateway;
        revert OffchainLookup(address(this), urls, data, this.resolved.selector, data);
    }

    function resolved(bytes calldata response, bytes calldata) external pure returns (bytes memory) {
        return response;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == type(IExtendedResolver).interfaceId;
    }
}

/// Owner of `addr.reverse`: accounts name themselves (EIP-181).
contract ReverseRegistrar {
    bytes32 private constant ADDR_REVERSE = 0x91d1777781884d03a6757a803996e38de2a42967fb37eeaca72729271025a9e2;

    bytes16 private constant DIGITS = "0123456789abcdef";

    EnsRegistry private immutable registry;
    PublicResolver private immutable resolver;

    constructor(EnsRegistry registry_, PublicResolver resolver_) {
        registry = registry_;
        resolver = resolver_;
    }

    function setName(string calldata name) external {
        bytes32 label = keccak256(hexOf(msg.sender));
        registry.setSubnodeRecord(ADDR_REVERSE, label, address(this), address(resolver));
        resolver.setName(keccak256(abi.encodePacked(ADDR_REVERSE, label)), name);
    }

    /// Forty lower-case digits without a prefix.
    function hexOf(address account) private pure returns (bytes memory digits) {
        digits = new bytes(40);
        for (uint256 i; i < 40; i++) {
            digits[i] = DIGITS[(uint160(account) >> (156 - 4 * i)) & 15];
        }
    }
}
