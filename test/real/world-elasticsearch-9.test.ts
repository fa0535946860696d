import { describeOnRealServers } from './on-real-servers.js'
import { describeWorld } from './describe-world.js'

describeOnRealServers({ major: 9 }, describeWorld)
