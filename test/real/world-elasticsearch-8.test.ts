import { describeOnRealServers } from './on-real-servers.js'
import { describeWorld } from './describe-world.js'

describeOnRealServers({ major: 8 }, describeWorld)
