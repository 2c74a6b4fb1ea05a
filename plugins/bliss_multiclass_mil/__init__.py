"""Multi-class MIL: bags carry sets of labels, and an instance has one label of its bag's set or a negative one."""
