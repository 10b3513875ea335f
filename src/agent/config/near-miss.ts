export { findNearMiss } from '../../runtime/config/near-miss.ts';
