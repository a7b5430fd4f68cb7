"""What is made of specs at a desk and in CI: plans of products, contracts, pages, estimates."""
