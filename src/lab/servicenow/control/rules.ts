import type { AclRule, BusinessRule } from '../acl.js'
import type { Platform } from '../platform.js'

/** What users may do, and how queries are read. */
export interface RuleControl {
  /** Rows that a user does not see, or operations that a user may not do. */
  addAcl(rule: AclRule): void
  addBusinessRule(rule: BusinessRule): void
  /** Takes away every ACL and business rule. */
  clearRules(): void
  /** Whether incidents need a resolution code and notes to be resolved or closed. Default true. */
  setDataPolicy(isOn: boolean): void
  /** Whether a query with an unknown part matches no rows. Default false: the platform ignores such a part. */
  setInvalidQueryMeansNothing(isOn: boolean): void
}

export function ruleControl(platform: Platform): RuleControl {
  const { acl } = platform
  return {
    addAcl: rule => acl.add(rule),
    addBusinessRule: rule => acl.addBusinessRule(rule),
    clearRules: () => acl.clear(),
    setDataPolicy(isOn) {
      platform.hasDataPolicy = isOn
    },
    setInvalidQueryMeansNothing(isOn) {
      platform.invalidQueryMeansNothing = isOn
    },
  }
}
