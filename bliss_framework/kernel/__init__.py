"""The paper: bags, arms, pulls, Algorithm 1 and the cross-fit. Imports numpy only and prints nothing."""
