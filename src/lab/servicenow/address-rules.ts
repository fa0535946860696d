import { isIPv4 } from 'node:net'

/** A range of addresses, both ends included. */
export interface AddressRange {
  readonly from: string
  readonly to: string
}

export interface AddressRule extends AddressRange {
  readonly kind: 'allow' | 'deny'
}

/** A rule that the platform does not take. */
export class AddressRuleError extends Error {}

/** IP address access control: an address is blocked when a Deny rule matches it and no Allow rule does. */
export class AddressRules {
  /** Address of the administrator. No rule may block this address. */
  administratorAddress = '192.0.2.10'
  #rules: readonly AddressRule[] = []

  list(): readonly AddressRule[] {
    return this.#rules
  }

  /** Throws AddressRuleError if the range is invalid, or if the rule locks out the administrator. */
  add(rule: AddressRule): void {
    checkRange(rule)
    const rules = [...this.#rules, rule]
    if (isBlocked(rules, this.administratorAddress)) {
      throw new AddressRuleError(`the rule would lock out your own address, ${this.administratorAddress}`)
    }
    this.#rules = rules
  }

  /** Takes away the rules that are equal to this one. */
  delete({ kind, from, to }: AddressRule): void {
    this.#rules = this.#rules.filter(rule => rule.kind !== kind || rule.from !== from || rule.to !== to)
  }

  clear(): void {
    this.#rules = []
  }

  blocks(address: string): boolean {
    return isBlocked(this.#rules, address)
  }
}

/** Throws AddressRuleError: the platform takes neither CIDR blocks nor stars. */
export function checkRange({ from, to }: AddressRange): void {
  for (const end of [from, to]) if (!isIPv4(end)) throw new AddressRuleError(`${end} is not an IPv4 address`)
  if (numberOf(from) > numberOf(to)) throw new AddressRuleError(`${from} is behind ${to}`)
}

export function isWithin(address: string, { from, to }: AddressRange): boolean {
  if (!isIPv4(address)) return false
  const number = numberOf(address)
  return number >= numberOf(from) && number <= numberOf(to)
}

function isBlocked(rules: readonly AddressRule[], address: string): boolean {
  const matches = (kind: AddressRule['kind']): boolean =>
    rules.some(rule => rule.kind === kind && isWithin(address, rule))
  return matches('deny') && !matches('allow')
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}
