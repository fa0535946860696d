import { describeMixedVerdicts } from '../contracts/mixed.suite.js'
import { describeOnRealServers } from './on-real-servers.js'

describeOnRealServers({ major: 9 }, world => describeMixedVerdicts(world, 'accepted'))
